// window.kafkalearn: Python for a page, as kafkalearn/page/__init__.py describes it. The worker is held by this page,
// or, where this page is shown in the frame of another one that was opened first (frame.js), by that one.
//   start(onProgress) -> Promise, ask(name, payload) -> Promise<result>, stop(), isStarted, onstop
// Events on window: "kafkalearn:started", "kafkalearn:stopped".

window.kafkalearn = (() => {
  const here = document.currentScript?.src ?? "";
  const isFramed = window.parent !== window;
  const waiting = new Map(); // by the number of the question
  const listeners = new Set();
  let count = 0, worker = null, starting = null;

  class Stopped extends Error {
    isStop = true; // this one is no fault: the reader has ended Python
  }

  function announce(what) {
    api.isStarted = what === "started";
    if (what === "stopped") api.onstop?.();
    window.dispatchEvent(new CustomEvent(`kafkalearn:${what}`));
  }

  // The script with all of Python is 9 MB: it is read when somebody wants it. A page of one file has it inside.
  function runtime() {
    if (window.KAFKALEARN_RUNTIME) return Promise.resolve(window.KAFKALEARN_RUNTIME);
    return new Promise((resolve, reject) => {
      const script = Object.assign(document.createElement("script"), { src: new URL("runtime.js", here).href });
      script.onload = () => resolve(window.KAFKALEARN_RUNTIME);
      script.onerror = () => reject(new Error("live/runtime.js is not beside this page: copy the whole folder of the book"));
      document.head.append(script);
    });
  }

  const own = {
    async start(onProgress) {
      onProgress("Reading Python");
      const { parts, worker: text } = await runtime();
      return new Promise((resolve, reject) => {
        worker = new Worker(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
        own.refuseStart = reject;
        worker.onerror = (event) => reject(new Error(`Python does not start: ${event.message}`));
        worker.onmessage = ({ data }) => {
          if (data.progress) onProgress(data.progress);
          else if (data.started) resolve();
          else if (data.failed) reject(new Error(`Python does not start: ${data.failed}`));
          else hear(data);
        };
        worker.postMessage({ parts });
      });
    },
    send: (question) => worker.postMessage(question),
    stop() {
      if (!worker) return;
      worker.terminate();
      worker = null;
      own.refuseStart?.(new Stopped("Python was stopped."));
      halted();
    },
  };

  // The page around this one holds the worker: the same three, said over a port.
  const port = isFramed ? new MessageChannel() : null;
  const lent = {
    start(onProgress) {
      return new Promise((resolve, reject) => {
        lent.settle = ({ progress, failed }) => {
          if (progress) onProgress(progress);
          else if (failed) reject(new Error(failed));
          else resolve();
        };
        port.port1.postMessage({ start: true });
      });
    },
    send: (question) => port.port1.postMessage(question),
    stop: () => port.port1.postMessage({ stop: true }),
  };
  const holder = isFramed ? lent : own;

  function hear({ id, answer }) {
    const question = waiting.get(id);
    waiting.delete(id);
    const { result, error, trace, isOver } = JSON.parse(answer);
    if (trace) console.warn(trace);
    if (error === undefined) question?.resolve(result);
    else question?.reject(new Error(error));
    if (isOver) api.stop();
  }

  function halted() {
    starting = null;
    for (const { reject } of waiting.values()) reject(new Stopped("Python was stopped, and its values are gone."));
    waiting.clear();
    announce("stopped");
  }

  const api = {
    isStarted: false,
    onstop: null,
    start(onProgress = () => {}) {
      listeners.add(onProgress);
      starting ??= holder.start((words) => listeners.forEach((each) => each(words))).then(
        () => announce("started"),
        (error) => { starting = null; throw error; },
      ).finally(() => listeners.clear());
      return starting;
    },
    async ask(name, payload = null) {
      await api.start();
      return new Promise((resolve, reject) => {
        const id = ++count;
        waiting.set(id, { resolve, reject });
        holder.send({ id, name, payload: JSON.stringify(payload) });
      });
    },
    stop: () => holder.stop(),
    // For frame.js: serve the page in a frame over its port. Its numbers are not ours.
    serve(guest) {
      const tell = (what) => () => guest.postMessage({ event: what });
      const events = { started: tell("started"), stopped: tell("stopped") };
      for (const what in events) window.addEventListener(`kafkalearn:${what}`, events[what]);
      guest.onmessage = async ({ data }) => {
        if (data.start) {
          api.start((progress) => guest.postMessage({ progress }))
            .then(() => guest.postMessage({ ready: true }), (error) => guest.postMessage({ failed: error.message }));
        } else if (data.stop) api.stop();
        else {
          const said = await api.ask(data.name, JSON.parse(data.payload)).then((result) => ({ result }), (error) => ({ error: error.message, isStop: error.isStop }));
          if (!said.isStop) guest.postMessage({ id: data.id, answer: JSON.stringify(said) });
        }
      };
      if (api.isStarted) events.started();
      return () => { for (const what in events) window.removeEventListener(`kafkalearn:${what}`, events[what]); };
    },
  };

  if (isFramed) {
    port.port1.onmessage = ({ data }) => {
      if (data.answer) hear(data);
      else if (data.event === "stopped") halted();
      else if (data.event === "started") { starting ??= Promise.resolve(); announce("started"); }
      else lent.settle?.(data);
    };
    window.parent.postMessage({ kafkalearn: "port" }, "*", [port.port2]);
  }
  return api;
})();
