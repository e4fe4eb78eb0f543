// The page of a running server: changes arrive as patches and are applied to what is there; nothing is loaded anew.

const live = document.getElementById("data").textContent.trim() === "live";

// See aegisbo/review/patch.py for what a patch is.
function patched(old, patch) {
  if (patch && patch.$at) return old.map((item, k) => (k in patch.$at ? patched(item, patch.$at[k]) : item));
  if (patch && patch.$keep != null) return [...old.slice(0, patch.$keep), ...patch.$then];
  if (patch && patch.$set) {
    const result = { ...old };
    for (const name of patch.$drop ?? []) delete result[name];
    for (const [name, inner] of Object.entries(patch.$set)) result[name] = name in result ? patched(result[name], inner) : inner.$new;
    return result;
  }
  return patch && "$new" in patch ? patch.$new : patch;
}

function listenToServer() {
  const source = new EventSource("api/events");
  let facts = null, due = null;
  const soon = () => { due ??= setTimeout(() => { due = null; show(facts); }, 100); }; // many changes, one drawing
  source.addEventListener("all", (event) => { facts = JSON.parse(event.data); soon(); });
  source.addEventListener("patch", (event) => { if (facts) { facts = patched(facts, JSON.parse(event.data)); soon(); } });
  source.onopen = () => document.getElementById("offline")?.remove();
  source.onerror = () => {
    if (!document.getElementById("offline")) document.body.prepend(h("div", { id: "offline", role: "status" }, "The server does not answer. This page shows the last state that it received, and updates by itself when the server is back."));
  };
}

function show({ studies, waiting }) {
  if (studies.length < view.studies.length) { location.reload(); return; } // one was removed
  if (!studies.length) {
    document.getElementById("head").replaceChildren(h("h1", {}, "Waiting for a study"), ...waiting.map((text) => h("p", { class: "muted" }, text)));
    return;
  }
  const first = !view.studies.length;
  // Built for one study or for several: when another one turns up, the page is built anew.
  if (!first && (studies.length > 1) !== (view.studies.length > 1)) { location.reload(); return; }
  // What a reader asked for stays, though the server does not send it again.
  studies.forEach((study, k) => { const asked = view.studies[k]?.fronts ?? []; study.fronts = [...(study.fronts ?? []), ...asked.filter((a) => !(study.fronts ?? []).some((b) => b.number === a.number))]; });
  view.studies = studies;
  prepare();
  if (first) build();
  else update();
}
