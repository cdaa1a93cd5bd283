// window.kafkalearnAnswers: the reader's answers, kept by the browser from visit to visit.
//   read() -> Promise<{record, drafts, places, isRefused}>   record: the file of progress, parsed; drafts: by exercise;
//   places: where the reader has stopped, by page, the page read last at the end
//   keepEntry(exercise, entry), keepDraft(exercise, text or null), keepPrediction(cell, made), keepPlace(page, {anchor, words}),
//   replace({record, drafts}), which keeps the places, forget()
// Browsers that give each file: page a store of its own (Firefox) would part the chapters from each other, so all pages
// of the book ask one page, answers.html, in a frame that nobody sees. Where storage is refused, this page remembers.

window.kafkalearnAnswers = (() => {
  const { EMPTY, changed } = window.kafkalearnStore;
  const PATIENCE_MS = 5000; // a store that says nothing so long after its page has come is none
  let memory = EMPTY(), isRefused = false;
  let last = Promise.resolve(); // questions stand in a queue: the store has no locks
  let reading = null; // the last of them, if it only reads and has no answer yet

  const loaded = new Promise((resolve) => {
    if (document.body) resolve();
    else addEventListener("DOMContentLoaded", resolve);
  });

  // One question to the store: a frame that goes as soon as it has answered. Nothing, if it does not.
  function asked(question) {
    return new Promise((resolve) => {
      const frame = Object.assign(document.createElement("iframe"), { src: "answers.html", hidden: true, title: "The store of answers" });
      let timer = 0;
      const end = (said) => {
        removeEventListener("message", hear);
        clearTimeout(timer);
        frame.remove();
        resolve(said);
      };
      const hear = ({ data, source }) => {
        const said = data?.kafkalearnAnswers;
        if (!said || source !== frame.contentWindow) return;
        if (!said.isReady) return end(said);
        frame.onload = null; // it is there, and will answer
        clearTimeout(timer);
        source.postMessage({ kafkalearnAnswers: question }, "*");
      };
      frame.onload = () => { timer = setTimeout(end, PATIENCE_MS); };
      addEventListener("message", hear);
      document.body.append(frame);
    });
  }

  async function answer(question) {
    await loaded;
    if (!isRefused) {
      const said = await asked(question);
      if (said && !said.isRefused) return said;
    }
    isRefused = true;
    memory = changed(memory, question);
    return structuredClone({ ...memory, isRefused });
  }

  const ask = (question) => {
    reading = null;
    return (last = last.then(() => answer(question)));
  };

  // A page that opens is read by each of its scripts: one answer is enough for all of them.
  function read() {
    if (reading) return reading;
    const asked = ask({});
    asked.then(() => { if (reading === asked) reading = null; });
    return (reading = asked);
  }

  return {
    read,
    keepEntry: (exercise, entry) => ask({ entry: { exercise, entry } }),
    keepDraft: (exercise, text) => ask({ draft: { exercise, text } }),
    keepPrediction: (id, made) => ask({ prediction: { id, made } }),
    keepPlace: (page, place) => ask({ place: { page, ...place } }),
    replace: (whole) => ask({ whole }),
    forget: () => ask({ whole: EMPTY() }),
  };
})();

// A text as a file of the reader's, without a server.
window.kafkalearnSave = (name, text, type) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
};
