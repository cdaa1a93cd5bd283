// The table of a class. No code of a file runs in the Python that judges it: functions run in another one, which has no
// hold on the browser and ends with the file, and what they give is judged here.

(() => {
  const form = document.getElementById("tools"), said = document.getElementById("said");
  const place = document.getElementById("table"), remarks = document.getElementById("remarks");
  const believed = document.getElementById("believed"), mistaken = document.getElementById("mistaken");
  const python = window.kafkalearn;
  const SECONDS = 120; // for one file
  const asked = JSON.parse(document.getElementById("asked").textContent); // by cell
  let csv = "", stop = () => {};

  const element = (name, ...children) => {
    const made = document.createElement(name);
    made.append(...children);
    return made;
  };

  // What the functions of a file give is asked of another Python, which ends before the last word is said.
  async function judged(file, text) {
    const theirs = python.another(), gave = {};
    let outcomes = {};
    const timer = setTimeout(() => stop(), SECONDS * 1000);
    stop = () => { theirs.stop(); python.stop(); };
    try {
      for (;;) {
        const one = await python.ask("progress.judge", { file, text, gave, outcomes });
        outcomes = one.outcomes;
        for (const each of Object.keys(gave)) if (!one.wanted[each]) delete gave[each]; // its outcome holds
        const wanted = Object.entries(one.wanted);
        if (!wanted.length) return one;
        for (const [exercise, { name, source, calls }] of wanted) {
          said.textContent = `Running what ${file} has for ${exercise} …`;
          const outcomes = await theirs.ask("functions.call", { name, source, calls });
          gave[exercise] = [...(gave[exercise] ?? []), ...calls.map((call, at) => [call, outcomes[at] ?? null])];
        }
      }
    } catch (error) {
      return error.isStop ? { file, text } : { file, text, trouble: error.message };
    } finally {
      clearTimeout(timer);
      theirs.stop();
    }
  }

  function table([columns, ...rows]) {
    const head = element("thead", element("tr", ...columns.map((name) => Object.assign(element("th", name), { scope: "col" }))));
    const body = element("tbody", ...rows.map(([name, ...cells]) =>
      element("tr", Object.assign(element("th", ...marked(name)), { scope: "row" }), ...cells.map((cell) => element("td", ...marked(cell))))));
    return element("table", head, body);
  }

  // Code in backticks is marked, as where it was asked.
  const marked = (text) => String(text).split("`").map((part, at) => (at % 2 ? element("code", part) : part));

  function show({ columns, rows, beliefs, mistakes, remarks: words }) {
    place.replaceChildren(table([columns, ...rows]));
    believed.replaceChildren(...(beliefs.length > 1 ? [table(beliefs)] : ["Nobody has predicted anything wrong, or handed in a prediction."]));
    mistaken.replaceChildren(...(mistakes.length > 1 ? [table(mistakes)] : ["No answer showed a misconception that the exercises know."]));
    for (const each of [believed, mistaken]) each.parentNode.hidden = false;
    remarks.replaceChildren(...words.map((each) => element("li", each)));
  }

  async function judgeAll(files) {
    form.querySelector("[data-do=stop]").hidden = false;
    const all = [];
    for (const file of files) {
      said.textContent = `Judging ${file.name}, ${all.length + 1} of ${files.length} …`;
      const one = await judged(file.name, await file.text());
      all.push(one);
    }
    said.textContent = "Making the table …";
    const table = await python.ask("progress.class_table", { judged: all, asked });
    csv = table.csv;
    show(table);
    form.querySelector("[data-do=save]").disabled = false;
    said.textContent = `${files.length} ${files.length === 1 ? "file is" : "files are"} judged.`;
  }

  form.addEventListener("submit", (event) => event.preventDefault());
  form.files.addEventListener("change", async () => {
    try {
      if (form.files.files.length) await judgeAll([...form.files.files]);
    } catch (error) {
      said.textContent = error.message;
    } finally {
      form.querySelector("[data-do=stop]").hidden = true;
      form.files.value = "";
    }
  });
  form.addEventListener("click", ({ target }) => {
    if (target.dataset.do === "save") window.kafkalearnSave("grades.csv", csv, "text/csv");
    if (target.dataset.do === "stop") stop();
  });
})();
