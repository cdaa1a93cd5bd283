// The questions of a page: each gets its form, and what is closed with it opens when the reader runs the cell below it, or
// asks for what it gave; the verdict stands below the output. On paper the answers stand at the end of their section. What was predicted is kept with the answers, where the page can keep anything.

const questions = [...document.querySelectorAll("[data-asks]")].map((place) => {
  const question = JSON.parse(place.querySelector("script").textContent);
  const closed = [...document.querySelectorAll(`[data-after="${CSS.escape(question.id)}"]`)];
  const open = () => {
    closed.forEach((each) => {
      each.classList.remove("kl-closed");
      each.closest("[data-cell]")?.querySelector(".until-predicted")?.remove();
    });
    dispatchEvent(new Event("resize")); // what was hidden had no size
  };
  const drawn = ".book-cell .jp-OutputArea svg, .book-cell :is(.kl-stage, .live-shown) svg[viewBox]";
  const picture = () => [...document.querySelectorAll(drawn)].filter((each) =>
    each.getClientRects().length && each.getBoundingClientRect().width > 200 && each.compareDocumentPosition(place) & Node.DOCUMENT_POSITION_FOLLOWING).at(-1);
  const told = document.querySelector(`[data-verdict-of="${CSS.escape(question.id)}"]`), cell = told?.closest("[data-cell]");
  let made = null;
  function tell() {
    if (!made) return;
    open();
    if (!told || told.firstChild || made.shown) return;
    told.append(globalThis.kafkalearnPredictions.verdict(question, made));
    form.tell();
  }
  const settled = (result, isKept) => {
    made = result;
    if (isKept || !told || made.shown) tell();
  };
  const keep = (result) => {
    settled(result, false);
    window.kafkalearnAnswers?.keepPrediction(question.id, result);
  };
  cell?.addEventListener("click", ({ target }) => { if (target.closest("[data-do^=run]")) tell(); });
  const see = () => {
    tell();
    cell.scrollIntoView({ block: "nearest" });
    const said = told.querySelector(".kl-said"); // the button is gone: the keys go on from what it has told
    said.tabIndex = -1;
    said.focus({ preventScroll: true });
  };
  const next = told && { words: "Now run the cell.", button: "See what it gives", see };
  const form = globalThis.kafkalearnPredictions.form(question, { keep, picture, next });
  place.append(form);
  const aloud = () => {
    if (made && !made.shown) return tell();
    open();
    if (told && !told.firstChild) told.append(globalThis.kafkalearnPredictions.verdict(question, { shown: true, aloud: true }));
  };
  return { question, place, form, closed, settled, aloud };
});
globalThis.kafkalearnTellAloud = (id) => questions.find(({ question }) => question.id === id)?.aloud(); // slides turn on

// The store is another script's, which comes after this one.
addEventListener("DOMContentLoaded", async () => {
  const kept = await window.kafkalearnAnswers?.read();
  for (const { question, form, settled } of questions) {
    const made = kept?.record.predictions?.[question.id];
    if (!made || form.dataset.made) continue;
    form.settle(made);
    settled(made, true);
  }
  document.documentElement.dataset.predictions = "read";
});

// --- paper

const moved = []; // what stands elsewhere for now, each with the mark of its own place
function toTheEndsOfSections() {
  const cells = [...document.querySelectorAll(".book-cell")], sections = [];
  for (const cell of cells) {
    if (!sections.length || cell.querySelector("h1, h2")) sections.push({ last: cell, asked: [] });
    sections.at(-1).last = cell;
    sections.at(-1).asked.push(...questions.filter(({ place }) => cell.contains(place)));
  }
  for (const { last, asked } of sections.filter((each) => each.asked.length)) {
    const end = document.createElement("section");
    end.className = "kl-paper";
    last.after(end); // before the last cell of the section may move into it
    for (const { question, place, closed } of asked) {
      const words = [...place.closest(".book-cell").querySelectorAll("p")].find((each) => each.textContent.startsWith("Predict"));
      const so = Object.assign(document.createElement("p"), { className: "kl-on-paper" });
      const { told } = globalThis.kafkalearnPredictions;
      so.append(Object.assign(document.createElement("strong"), { textContent: words?.textContent ?? "" }), " ", ...told(question));
      end.append(so);
      for (const part of closed) {
        const mark = document.createComment("");
        part.replaceWith(mark);
        moved.push([mark, part]);
        const around = part.classList.contains("book-cell") ? end : end.appendChild(Object.assign(document.createElement("div"), { className: "jp-Cell jp-CodeCell" }));
        around.append(part);
      }
    }
  }
}
addEventListener("beforeprint", toTheEndsOfSections);
addEventListener("afterprint", () => {
  moved.splice(0).forEach(([mark, part]) => mark.replaceWith(part));
  document.querySelectorAll(".kl-paper").forEach((each) => each.remove());
});
