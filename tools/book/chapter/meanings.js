// A word of the glossary says what it means to a finger and to a key too: pressed, its meaning stands behind it.

for (const word of document.querySelectorAll("abbr.term")) {
  const meaning = Object.assign(document.createElement("span"), { className: "term-meaning", textContent: ` (${word.title.replace(/\.$/, "")})`, hidden: true });
  word.after(meaning);
  word.tabIndex = 0;
  word.setAttribute("role", "button");
  const turn = (isOpen) => {
    meaning.hidden = !isOpen;
    word.setAttribute("aria-expanded", String(isOpen));
  };
  turn(false);
  word.addEventListener("click", () => turn(meaning.hidden));
  word.addEventListener("keydown", (event) => {
    const isOpen = { Enter: meaning.hidden, " ": meaning.hidden, Escape: false }[event.key];
    if (isOpen === undefined) return;
    event.preventDefault();
    event.stopPropagation(); // it turns no slide
    turn(isOpen);
  });
}
