// The search runs in a worker, and browsers start no worker for a page that was opened from a file.
// For such a page, run the worker's script in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      // Firefox replaces the first document of a frame without one, with all that was put into it.
      frame.srcdoc = "<!doctype html>"
      this.started = new Promise((resolve, reject) => {
        frame.onload = () => {
          const inside = frame.contentWindow
          inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }))
          const script = inside.document.createElement("script")
          script.onload = () => resolve(inside)
          script.onerror = () => reject(new Error(`${url} cannot be loaded`))
          script.src = url
          inside.document.body.append(script)
        }
      })
      document.body.append(frame)
    }

    postMessage(data) {
      this.started.then((inside) => inside.dispatchEvent(new MessageEvent("message", { data })))
    }
  }
}
