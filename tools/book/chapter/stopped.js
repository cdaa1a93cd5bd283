// Where the reader has stopped: the heading that was read last is kept with the answers, and the next visit leads to it.

{
  const SETTLED_MS = 1000; // so long a page stands still before a place counts as read
  const own = location.pathname.split("/").at(-1);
  const links = [...document.querySelectorAll(".contents a")]; // a link for each heading, by its words
  const anchor = (link) => link.getAttribute("href").slice(1);
  let kept = "", settling = 0;

  const keep = () => {
    const isRead = (heading) => heading.getClientRects().length && heading.getBoundingClientRect().top < innerHeight / 2;
    const read = links.findLast((each) => isRead(document.getElementById(anchor(each))));
    if (!read || anchor(read) === kept || document.body.classList.contains("slides")) return;
    kept = anchor(read);
    window.kafkalearnAnswers?.keepPlace(own, { anchor: kept, words: read.textContent });
  };

  // The store is another script's, which comes after this one.
  addEventListener("DOMContentLoaded", async () => {
    const place = (await window.kafkalearnAnswers?.read())?.places[own];
    const there = links.find((each) => anchor(each) === place?.anchor);
    if (there) {
      const line = Object.assign(document.createElement("p"), { className: "stopped" });
      line.append("You stopped at ", there.cloneNode(true));
      document.querySelector(".contents").before(line);
    }
    addEventListener("scroll", () => {
      clearTimeout(settling);
      settling = setTimeout(keep, SETTLED_MS);
    });
    document.documentElement.dataset.places = "read";
  });
}
