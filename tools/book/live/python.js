// window.kafkalearn: Python for a page, as tools/page/__init__.py describes it.
//   start(onProgress) -> Promise, ask(name, payload) -> Promise<result>, stop(), isStarted
//   another() -> one more, whose Python is this page's alone and has no hold on the browser
// Events on window: "kafkalearn:started", "kafkalearn:stopped".
// A page talks to the holder of the worker: {start}, {stop}, {id, name, payload}; it hears {progress}, {started},
// {failed}, {stopped}, {id, answer}. The holder is in this page; where this one is shown in another's frame, in that one.

window.kafkalearn = (() => {
  const here = document.currentScript?.src || document.querySelector('script[src$="live/runtime.js"]')?.src || "";
  const SMALL_GB = 2; // a device with no more memory starts as ever: unpacking takes 60 MB for a moment

  const shared = python(window.parent !== window, true);
  shared.another = () => python(false, false);
  return shared;

  function python(isFramed, isShared) {
  // --- the holder: all its guests hear the same

  const guests = new Set();
  let worker = null, beginning = null, isReady = false;

  function tell(said) { guests.forEach((hear) => hear(said)); }

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

  // The script with the memory that Python had after its imports; null where there is none for this runtime.
  function snapshot() {
    if (!here || !isShared || navigator.deviceMemory <= SMALL_GB) return Promise.resolve(null);
    return new Promise((resolve) => {
      const script = Object.assign(document.createElement("script"), { src: new URL("snapshot.js", here).href });
      script.onload = () => {
        resolve(window.KAFKALEARN_SNAPSHOT ?? null);
        delete window.KAFKALEARN_SNAPSHOT; // 9 MB; another start reads it again
      };
      script.onerror = () => resolve(null);
      document.head.append(script);
    });
  }

  async function begin() {
    if (isReady) tell({ started: true });
    if (beginning) return;
    const mine = beginning = {}; // another, if Python was ended meanwhile
    tell({ progress: "Reading Python" });
    try {
      const [{ parts, worker: text, snapshot: wanted }, kept] = await Promise.all([runtime(), snapshot()]);
      if (beginning !== mine) return;
      worker = new Worker(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
      worker.onerror = ({ message }) => { beginning = null; tell({ failed: `Python does not start: ${message}` }); };
      worker.onmessage = ({ data }) => {
        if (data.started) isReady = true;
        if (data.failed) beginning = null;
        tell(data);
      };
      worker.postMessage({ parts, snapshot: kept?.of === wanted ? kept.packed : null, hasHost: isShared });
    } catch (error) {
      beginning = null;
      tell({ failed: error.message });
    }
  }

  function hold(message) {
    if (message.start) begin();
    else if (!message.stop) worker?.postMessage(message);
    else if (beginning) {
      worker?.terminate();
      worker = beginning = null;
      isReady = false;
      tell({ stopped: true });
    }
  }

  function admit(hear) {
    guests.add(hear);
    if (isReady) hear({ started: true });
    return () => guests.delete(hear);
  }

  // --- the guest: this page

  const waiting = new Map(), me = Math.random(); // questions by their number
  let listeners = [], starting = null, count = 0;

  class Stopped extends Error {
    isStop = true; // this one is no fault: the reader has ended Python
  }

  function announce(isStarted) {
    api.isStarted = isStarted;
    if (isShared) window.dispatchEvent(new CustomEvent(`kafkalearn:${isStarted ? "started" : "stopped"}`));
  }

  function hear(said) {
    if (said.progress) listeners.forEach((each) => each(said.progress));
    else if (said.failed) starting?.reject(new Error(said.failed));
    else if (said.stopped) {
      starting?.reject(new Stopped("Python was stopped."));
      starting = null;
      for (const { reject } of waiting.values()) reject(new Stopped("Python was stopped, and its values are gone."));
      waiting.clear();
      announce(false);
    } else if (said.started) {
      starting ??= Promise.withResolvers();
      starting.resolve();
      if (!api.isStarted) announce(true);
    } else if (waiting.has(said.id)) {
      const { result, error, trace, isOver } = JSON.parse(said.answer), { resolve, reject } = waiting.get(said.id);
      waiting.delete(said.id);
      if (trace) console.warn(trace);
      if (error === undefined) resolve(result);
      else reject(new Error(error));
      if (isOver) api.stop();
    }
  }

  const { port1, port2 } = new MessageChannel();
  const send = isFramed ? (message) => port1.postMessage(message) : hold;

  const api = {
    isStarted: false,
    async start(onProgress = () => {}) {
      listeners.push(onProgress);
      const mine = starting ??= Promise.withResolvers();
      if (!api.isStarted) send({ start: true });
      try {
        await mine.promise;
      } catch (error) {
        if (starting === mine) starting = null;
        throw error;
      } finally {
        listeners = listeners.filter((each) => each !== onProgress);
      }
    },
    async ask(name, payload = null) {
      await api.start();
      const id = `${me} ${++count}`, asked = Promise.withResolvers();
      waiting.set(id, asked);
      send({ id, name, payload: JSON.stringify(payload) });
      return asked.promise;
    },
    stop: () => send({ stop: true }),
    // For frame.js: the page in the frame is a guest, too, until what this returns is called.
    serve(port) {
      port.onmessage = ({ data }) => hold(data);
      return admit((said) => port.postMessage(said));
    },
  };

  if (isFramed) {
    port1.onmessage = ({ data }) => hear(data);
    window.parent.postMessage({ kafkalearn: "port" }, "*", [port2]);
  } else admit(hear);
  return api;
  }
})();
