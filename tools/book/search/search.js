// The search: every section that has all the words. Chapters stand first, then their exercises, the reference, and what is
// the instructor's; in each, those with a word in their heading. A word that no section has is taken for the nearest one.

(() => {
  const form = document.getElementById("search"), results = document.getElementById("results"), count = document.getElementById("count");
  const KINDS = ["In the chapters", "Exercises", "Reference", "For the instructor"];
  const kindOf = (file, heading) => (file.endsWith(".instructor.html") ? 3 : file.includes("/") ? 2 : /^Exercises?\b/.test(heading) ? 1 : 0);
  const rows = window.KAFKALEARN_SEARCH.map(([file, title, anchor, heading, text]) =>
    ({ file, title, anchor, heading, text, low: text.toLowerCase(), lowHeading: `${title} ${heading}`.toLowerCase(), kind: kindOf(file, heading) }));
  const MOST = 20, AROUND = 90; // of each kind; letters around a word
  const wordsIn = (query) => query.toLowerCase().split(/\s+/).filter(Boolean);

  function timesIn(text, word) {
    let count = 0;
    for (let at = text.indexOf(word); at >= 0 && count < 20; at = text.indexOf(word, at + word.length)) count += 1;
    return count;
  }

  function score(row, words) {
    const phrase = words.join(" ");
    let sum = words.length > 1 ? 60 * row.lowHeading.includes(phrase) + 3 * timesIn(row.low, phrase) : 0;
    for (const word of words) {
      const points = 30 * row.lowHeading.includes(word) + timesIn(row.low, word);
      if (points === 0) return 0;
      sum += points;
    }
    return sum;
  }

  // What the course calls by its letters, others write out: a section with either is found.
  const LETTERS = { "high watermark": "hw", "log end offset": "leo", "in-sync replicas": "isr" };
  const written = (words) => {
    const phrase = words.join(" "), short = Object.entries(LETTERS).find(([whole]) => phrase.includes(whole));
    return short ? [words, wordsIn(phrase.replace(...short))] : [words];
  };

  // --- words that are nowhere: the nearest ones of the index

  let known = null; // each of its words, and how often it is there
  function vocabulary() {
    if (known) return known;
    known = new Map();
    for (const { low, lowHeading } of rows) {
      for (const [word] of `${lowHeading} ${low}`.matchAll(/\p{L}[\p{L}\d]{2,}(?:[_.-][\p{L}\d]+)*/gu)) known.set(word, (known.get(word) ?? 0) + 1);
    }
    return known;
  }

  // How many letters are left out, put in, changed, or change places with their neighbour; `most` + 1 for more than that.
  function distance(one, other, most) {
    if (Math.abs(one.length - other.length) > most) return most + 1;
    let before = [], last = Array.from({ length: other.length + 1 }, (_, at) => at);
    for (let i = 1; i <= one.length; i++) {
      const row = [i];
      for (let j = 1; j <= other.length; j++) {
        row[j] = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (one[i - 1] !== other[j - 1]));
        if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]) row[j] = Math.min(row[j], before[j - 2] + 1);
      }
      if (Math.min(...row) > most) return most + 1;
      [before, last] = [last, row];
    }
    return last[other.length];
  }

  // The nearest ones, the one that is there most often first.
  function nearest(word) {
    const most = word.length < 4 ? 0 : word.length < 7 ? 1 : 2;
    const found = [...vocabulary()].map(([each, times]) => [distance(word, each, most), -times, each]).filter(([far]) => far <= most);
    const least = Math.min(...found.map(([far]) => far));
    return found.filter(([far]) => far === least).sort((a, b) => a[1] - b[1]).slice(0, 4).map(([, , each]) => each);
  }

  // --- what is shown

  const element = (name, attributes = {}, ...children) => {
    const made = Object.assign(document.createElement(name), attributes);
    made.append(...children);
    return made;
  };

  // The text around the first word, with all the words marked.
  function excerpt(row, words) {
    const wanted = Math.max(0, Math.min(...words.map((word) => row.low.indexOf(word)).filter((at) => at >= 0), row.text.length) - AROUND);
    const first = wanted && row.text.indexOf(" ", wanted) + 1, cut = row.text.slice(first, first + 3 * AROUND);
    const isAll = first + cut.length === row.text.length, part = isAll ? cut : `${cut.slice(0, cut.lastIndexOf(" "))} …`, low = part.toLowerCase();
    const made = [document.createTextNode(first > 0 ? "… " : "")];
    let at = 0;
    while (at < part.length) {
      const next = words.map((word) => [low.indexOf(word, at), word]).filter(([place]) => place >= 0).sort((a, b) => a[0] - b[0])[0];
      if (!next) break;
      made.push(document.createTextNode(part.slice(at, next[0])), element("mark", {}, part.slice(next[0], next[0] + next[1].length)));
      at = next[0] + next[1].length;
    }
    made.push(document.createTextNode(part.slice(at)));
    return made;
  }

  function item(row, words) {
    const link = element("a", { href: `${row.file}#${row.anchor}`, textContent: row.heading === row.title ? row.title : `${row.title}: ${row.heading}` });
    return element("li", {}, link, element("p", {}, ...excerpt(row, words)));
  }

  function ofKind(kind, found) {
    const mine = found.filter(({ row }) => row.kind === kind).sort((a, b) => b.points - a.points);
    if (mine.length === 0) return [];
    const more = mine.length > MOST ? `: the best ${MOST} of ${mine.length}` : "";
    return [element("h2", {}, KINDS[kind] + more), element("ol", { className: "results" }, ...mine.slice(0, MOST).map(({ row, words }) => item(row, words)))];
  }

  // Another word to search for, as a button.
  function instead(words, at, other) {
    const button = element("button", { type: "button", className: "instead" }, other);
    button.addEventListener("click", () => {
      form.elements.words.value = words.with(at, other).join(" ");
      form.requestSubmit();
    });
    return button;
  }

  function search(query) {
    const asked = wordsIn(query), said = [];
    const words = asked.map((word, at) => {
      if (word.length < 4 || rows.some(({ low, lowHeading }) => low.includes(word) || lowHeading.includes(word))) return word;
      const [best, ...others] = nearest(word);
      if (!best) return word;
      said.push(" ", `Nothing has “${word}”: taken for `, element("strong", {}, best), ".");
      if (others.length) said.push(" Or ", ...others.flatMap((other) => [instead(asked, at, other), " "]));
      return best;
    });
    const ways = words.length === 0 ? [] : written(words);
    const best = (row) => ways.map((each) => ({ row, words: each, points: score(row, each) })).reduce((a, b) => (b.points > a.points ? b : a));
    const found = words.length === 0 ? [] : rows.map(best).filter(({ points }) => points > 0);
    results.replaceChildren(...KINDS.flatMap((_, kind) => ofKind(kind, found)));
    count.replaceChildren(...(words.length === 0 ? [] : [`${found.length} ${found.length === 1 ? "section" : "sections"}.`, ...said]));
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
