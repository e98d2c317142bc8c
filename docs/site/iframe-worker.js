// Lets the search of the site run from a disk, where browsers start no worker: the script runs in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.scope = frame.contentWindow;
      const load = (source) =>
        new Promise((loaded, failed) => {
          const script = frame.contentDocument.createElement("script");
          Object.assign(script, { src: source, onload: loaded, onerror: failed });
          frame.contentDocument.body.append(script);
        });
      this.scope.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.scope.importScripts = async (...sources) => {
        for (const source of sources) await load(source);
      };
      this.loaded = load(url);
    }

    postMessage(data) {
      this.loaded.then(() => this.scope.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
