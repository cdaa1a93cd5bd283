// The search: every section that has all the words; those with a word in their heading first.

(() => {
  const form = document.getElementById("search"), results = document.getElementById("results");
  const rows = window.KAFKALEARN_SEARCH.map(([file, title, anchor, heading, text]) =>
    ({ file, title, anchor, heading, text, low: text.toLowerCase(), lowHeading: `${title} ${heading}`.toLowerCase() }));
  const MOST = 50, AROUND = 90;

  function timesIn(text, word) {
    let count = 0;
    for (let at = text.indexOf(word); at >= 0 && count < 20; at = text.indexOf(word, at + word.length)) count += 1;
    return count;
  }

  function score(row, words) {
    let sum = 0;
    for (const word of words) {
      const points = 30 * row.lowHeading.includes(word) + timesIn(row.low, word);
      if (points === 0) return 0;
      sum += points;
    }
    return sum;
  }

  // The text around the first word, with all the words marked.
  function excerpt(row, words) {
    const first = Math.max(0, Math.min(...words.map((word) => row.low.indexOf(word)).filter((at) => at >= 0), row.text.length) - AROUND);
    const part = row.text.slice(first, first + 3 * AROUND), low = part.toLowerCase();
    const made = [document.createTextNode(first > 0 ? "… " : "")];
    let at = 0;
    while (at < part.length) {
      const next = words.map((word) => [low.indexOf(word, at), word]).filter(([place]) => place >= 0).sort((a, b) => a[0] - b[0])[0];
      if (!next) break;
      const mark = document.createElement("mark");
      mark.textContent = part.slice(next[0], next[0] + next[1].length);
      made.push(document.createTextNode(part.slice(at, next[0])), mark);
      at = next[0] + next[1].length;
    }
    made.push(document.createTextNode(part.slice(at)));
    return made;
  }

  function item(row, words) {
    const link = Object.assign(document.createElement("a"), { href: `${row.file}#${row.anchor}`, textContent: `${row.title}: ${row.heading}` });
    const text = document.createElement("p");
    text.append(...excerpt(row, words));
    const made = document.createElement("li");
    made.append(link, text);
    return made;
  }

  function search(query) {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const found = words.length === 0 ? [] : rows.map((row) => [score(row, words), row]).filter(([points]) => points > 0).sort((a, b) => b[0] - a[0]);
    results.replaceChildren(...found.slice(0, MOST).map(([, row]) => item(row, words)));
    const more = found.length > MOST ? `, the best ${MOST} of them here` : "";
    document.getElementById("count").textContent = words.length === 0 ? "" : `${found.length} ${found.length === 1 ? "section" : "sections"}${more}`;
  }

  form.elements.words.addEventListener("input", ({ target }) => search(target.value));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    search(form.elements.words.value);
    history.replaceState(null, "", `#${encodeURIComponent(form.elements.words.value)}`);
  });
  form.elements.words.focus(); // `autofocus` in a frame of the shell is refused aloud
  if (location.hash) {
    form.elements.words.value = decodeURIComponent(location.hash.slice(1));
    search(form.elements.words.value);
  }
})();
