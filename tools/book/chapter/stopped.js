// Where the reader has stopped: the heading that was read last is kept with the answers, and the next visit leads to it.

{
  const SETTLED_MS = 1000; // so long a page stands still before a place counts as read
  const own = location.pathname.split("/").at(-1);
  const headings = [...document.querySelectorAll(".book-cell :is(h2, h3)[id]")];
  const words = (heading) => [...heading.childNodes].filter((each) => !each.classList?.contains("anchor-link")).map((each) => each.textContent).join("").trim();
  let kept = "", settling = 0;

  const keep = () => {
    const read = headings.findLast((each) => each.getClientRects().length && each.getBoundingClientRect().top < innerHeight / 2);
    if (!read || read.id === kept || document.body.classList.contains("slides")) return;
    kept = read.id;
    window.kafkalearnAnswers?.keepPlace(own, { anchor: read.id, words: words(read) });
  };

  // The store is another script's, which comes after this one.
  addEventListener("DOMContentLoaded", async () => {
    const place = (await window.kafkalearnAnswers?.read())?.places[own];
    const heading = headings.find(({ id }) => id === place?.anchor);
    if (heading) {
      const link = Object.assign(document.createElement("a"), { href: `#${heading.id}`, textContent: words(heading) });
      const line = Object.assign(document.createElement("p"), { className: "stopped" });
      line.append("You stopped at ", link);
      document.querySelector(".contents, .book-cell").before(line);
    }
    addEventListener("scroll", () => {
      clearTimeout(settling);
      settling = setTimeout(keep, SETTLED_MS);
    });
    document.documentElement.dataset.places = "read";
  });
}
