from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

import pytest
from review.made_studies import make_study

from aegisbo.errors import InvalidInput
from aegisbo.review.board import Board
from aegisbo.review.server import Server, server_of


@contextmanager
def running(*paths: Path) -> Iterator[Server]:
    server = server_of(paths, port=0)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.close()
        thread.join()


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_study(tmp_path_factory.mktemp("server") / "run.db", 12)


@pytest.fixture(scope="module")
def server(study: Path) -> Iterator[Server]:
    with running(study) as server:
        yield server


def ask(server: Server, path: str, method: str = "GET", host: str | None = None) -> HTTPResponse:
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    connection.putrequest(method, path, skip_host=True)
    connection.putheader("Host", f"127.0.0.1:{server.server_port}" if host is None else host)
    connection.endheaders()
    return connection.getresponse()


def events(answer: HTTPResponse) -> Iterator[tuple[str, Any]]:
    kind = ""
    for line in answer:
        if line.startswith(b"event: "):
            kind = line.decode()[7:].strip()
        elif line.startswith(b"data: "):
            yield kind, json.loads(line[6:])


def test_the_page_and_its_data(server: Server) -> None:
    answer = ask(server, "/")
    assert (answer.status, answer.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert b"<!doctype html>" in answer.read()
    kind, facts = next(events(ask(server, "/api/events")))
    assert kind == "all"
    assert len(facts["studies"][0]["trials"]["number"]) == 12


def test_it_listens_on_loopback_only(server: Server) -> None:
    assert server.server_address[0] == "127.0.0.1"
    outside = [info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)]
    for address in {address for address in outside if not address.startswith("127.")}:
        with pytest.raises(OSError, match="refused"):
            socket.create_connection((address, server.server_port), timeout=5)


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "", "localhost:1", "127.0.0.1.evil.example:80"])
@pytest.mark.parametrize("path", ["/", "/api/events", "/api/front?study=0&trial=0"])
def test_a_foreign_name_is_refused(server: Server, host: str, path: str) -> None:
    assert ask(server, path, host=host).status == 421


def test_localhost_is_a_name_of_its_own(server: Server) -> None:
    assert ask(server, "/", host=f"localhost:{server.server_port}").status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "HEAD"])
def test_it_only_reads(server: Server, method: str) -> None:
    assert ask(server, "/", method).status == 501


@pytest.mark.parametrize("path", ["/run.db", "/../run.db", "/api", "/%2e%2e/etc/passwd", "/page.css", "*"])
def test_there_is_nothing_else(server: Server, path: str) -> None:
    assert ask(server, path).status == 404


@pytest.mark.parametrize(
    ("query", "status"),
    [("", 400), ("study=0", 400), ("study=x&trial=1", 400), ("study=7&trial=1", 404), ("study=0&trial=999", 404)],
)
def test_decisions_that_are_not_there(server: Server, query: str, status: int) -> None:
    assert ask(server, f"/api/front?{query}").status == status


def test_a_decision_in_full(server: Server) -> None:
    facts = json.loads(ask(server, "/api/front?study=0&trial=11").read())
    assert facts["number"] == 11
    assert facts["members"]
    assert json.loads(ask(server, "/api/front?study=0&trial=0").read()) is None  # a first point: no model took part


def test_a_decision_with_too_many_results_is_not_made_again(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aegisbo.review.board.MOST", 5)
    answer = ask(server, "/api/front?study=0&trial=11")
    assert answer.status == 404
    assert b"Decisions made with more than 5 are not shown in full: their models take too long." in answer.read()


def test_the_study_file_is_left_as_it_is(server: Server, study: Path) -> None:
    before = study.read_bytes(), sorted(file.name for file in study.parent.iterdir())
    next(events(ask(server, "/api/events")))
    assert (study.read_bytes(), sorted(file.name for file in study.parent.iterdir())) == before


def test_news_arrive_as_patches_and_the_end_is_told(tmp_path: Path) -> None:
    path = make_study(tmp_path / "run.db", 3)
    with running(path, tmp_path / "later.db") as server:
        news = events(ask(server, "/api/events"))
        kind, facts = next(news)
        assert [len(study["trials"]["number"]) for study in facts["studies"]] == [3]
        assert "There is no study file" in facts["waiting"][0]
        make_study(path, 4)
        numbers: dict[str, Any] = {}
        while numbers.get("$then") != [3]:
            kind, patch = next(news)
            assert kind == "patch"
            trials = patch["$set"].get("studies", {}).get("$at", {}).get("0", {}).get("$set", {}).get("trials", {})
            numbers = trials.get("$set", {}).get("number", {})
        make_study(tmp_path / "later.db", 2)
        while "$then" not in patch["$set"].get("studies", {}):  # it may be seen before it holds anything
            _, patch = next(news)
        assert patch["$set"]["studies"]["$then"][-1]["name"] == "later"


def test_a_study_that_is_removed_is_not_shown_any_more(tmp_path: Path) -> None:
    one, other = make_study(tmp_path / "one.db", 3), make_study(tmp_path / "other.db", 3)
    board = Board([one, other])

    def look() -> dict[str, Any]:
        for source in board._sources:
            source.hurry()
        board._read()
        board._learn()
        return board.facts()[1]

    assert len(look()["studies"]) == 2
    one.unlink()
    facts = look()
    assert [study["name"] for study in facts["studies"]] == ["other"]
    assert "There is no study file" in facts["waiting"][0]
    make_study(one, 4)
    assert [study["name"] for study in look()["studies"]] == ["one", "other"]


def test_a_port_that_is_taken_is_named(server: Server, study: Path) -> None:
    with pytest.raises(InvalidInput, match=f"Port {server.server_port} cannot be used"):
        server_of([study], server.server_port)
