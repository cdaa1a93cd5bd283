// The table of a class: each file is judged by a Python of its own, so that none has a say in another's.

(() => {
  const form = document.getElementById("tools"), said = document.getElementById("said");
  const place = document.getElementById("table"), remarks = document.getElementById("remarks");
  const believed = document.getElementById("believed"), mistaken = document.getElementById("mistaken");
  const python = window.kafkalearn;
  const SECONDS = 120; // for one file
  const asked = JSON.parse(document.getElementById("asked").textContent); // by cell
  let csv = "";

  const element = (name, ...children) => {
    const made = document.createElement(name);
    made.append(...children);
    return made;
  };

  async function judged(file, text) {
    const timer = setTimeout(() => python.stop(), SECONDS * 1000);
    try {
      return await python.ask("progress.judge", { file, text });
    } catch (error) {
      return error.isStop ? { file, text } : { file, text, trouble: error.message };
    } finally {
      clearTimeout(timer);
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
      if (one.has_run_code || !one.outcomes) python.stop();
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
    if (target.dataset.do === "stop") python.stop();
  });
})();
