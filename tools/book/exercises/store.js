// The page answers.html: the one place where a browser keeps the answers, asked by answers.js of the other pages.

(() => {
  const RECORD = "kafkalearn.progress", DRAFTS = "kafkalearn.drafts", PLACES = "kafkalearn.places";
  const { EMPTY, changed } = window.kafkalearnStore;

  // What cannot be read is put aside, and a new one begun.
  function parsed(key, empty) {
    const text = localStorage.getItem(key);
    if (!text) return empty;
    try {
      const value = JSON.parse(text);
      if (value && typeof value === "object" && (key !== RECORD || value.format === empty.format)) return value;
    } catch { /* below */ }
    localStorage.setItem(`${key}.damaged`, text);
    return empty;
  }

  addEventListener("message", ({ data, source }) => {
    const question = data?.kafkalearnAnswers;
    if (!question || source !== window.parent) return;
    let said;
    try {
      const empty = EMPTY();
      let kept = { record: parsed(RECORD, empty.record), drafts: parsed(DRAFTS, empty.drafts), places: parsed(PLACES, empty.places) };
      if (Object.keys(question).length) { // it does not only read
        kept = changed(kept, question);
        localStorage.setItem(RECORD, JSON.stringify(kept.record));
        localStorage.setItem(DRAFTS, JSON.stringify(kept.drafts));
        localStorage.setItem(PLACES, JSON.stringify(kept.places));
      }
      said = { ...kept, isRefused: false };
    } catch {
      said = { isRefused: true };
    }
    source.postMessage({ kafkalearnAnswers: said }, "*");
  });
  window.parent.postMessage({ kafkalearnAnswers: { isReady: true } }, "*");
})();
