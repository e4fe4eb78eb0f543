from __future__ import annotations

import pytest

from aegisbo.errors import InvalidInput
from aegisbo.space import Choice, Int, Real, Space, read_space

TEXT = """
[lr]
type = "real"
low = 1e-6
high = 0.1
log = true
[units]
type = "int"
low = 16
high = 512
[act]
type = "choice"
values = ["relu", "tänh"]
"""


@pytest.mark.parametrize("kind", [str, lambda path: path])
def test_a_space_file_holds_one_table_per_parameter(tmp_path, kind):
    (tmp_path / "space.toml").write_text(TEXT, encoding="utf-8")
    space = read_space(kind(tmp_path / "space.toml"))
    assert space == Space({"lr": Real(1e-6, 0.1, log=True), "units": Int(16, 512), "act": Choice(["relu", "tänh"])})
    assert list(space.parameters) == ["lr", "units", "act"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[lr\n", "is not TOML: "),
        (b"[lr]\ntype = 'r\xffal'\n", "is not TOML: "),
        (
            b'constraints = "a < 1"\n',
            """'a < 1'; constraints are a list of texts, before all tables: constraints = ["a < b"]""",
        ),
        (b'constraint = ["a < 1"]\n', "['a < 1']; constraints are a list of texts, before all tables"),
        (b"[lr]\nlow = 1\n", "Parameter 'lr' must have a type (real, int, choice), got"),
        (b"[lr]\ntype = ['real']\n", "Parameter 'lr': Unknown parameter type"),
    ],
)
def test_a_file_that_describes_no_space_is_refused(tmp_path, content, message):
    (tmp_path / "space.toml").write_bytes(content)
    with pytest.raises(InvalidInput) as error:
        read_space(tmp_path / "space.toml")
    assert message in str(error.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InvalidInput, match=r"The space file .*nowhere\.toml cannot be read: No such file or directory"):
        read_space(tmp_path / "nowhere.toml")
