// Search on pages that are opened from the disk. Browsers start no worker there, so the script of
// the search runs in a hidden frame that answers as a worker would. Served pages use a worker.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.inside = new Promise((resolve, reject) => {
        const script = inside.document.createElement("script");
        script.onload = () => resolve(inside);
        script.onerror = reject;
        script.src = url;
        inside.document.head.append(script);
      });
    }

    postMessage(data) {
      this.inside.then((inside) => inside.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {}
  };
}
