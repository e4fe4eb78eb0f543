// The page of a running server: changes arrive as patches and are applied to what is there; nothing is loaded anew.

const live = document.getElementById("data").textContent.trim() === "live";

// A patch of an object names what changed, of a list how much of its beginning stays; anything else is a new value.
function patched(old, patch) {
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
  let studies = null;
  source.addEventListener("all", (event) => { studies = JSON.parse(event.data); show(studies); });
  source.addEventListener("patch", (event) => { if (studies) { studies = patched(studies, JSON.parse(event.data)); show(studies); } });
  source.onopen = () => document.getElementById("offline")?.remove();
  source.onerror = () => {
    if (!document.getElementById("offline")) document.body.prepend(h("div", { id: "offline", role: "status" }, "The server does not answer. This page shows what it knew last, and goes on by itself when the server is back."));
  };
}

function show(studies) {
  const first = !view.studies.length;
  // What a reader asked for stays, though the server does not send it again.
  studies.forEach((study, k) => { const asked = view.studies[k]?.fronts ?? []; study.fronts = [...(study.fronts ?? []), ...asked.filter((a) => !(study.fronts ?? []).some((b) => b.number === a.number))]; });
  view.studies = studies;
  prepare();
  if (first) build();
  else update();
}
