// Browsers start no worker for a page that was opened from disk: the search then runs in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      this.loaded = new Promise((resolve) => { frame.onload = () => resolve(frame.contentWindow); });
      frame.answer = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = `<script>postMessage = frameElement.answer<\/script><script src="${url}"><\/script>`;
      frame.srcdoc = script;
      document.body.append(frame);
    }

    postMessage(data) {
      this.loaded.then((inside) => inside.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {}
  };
}
