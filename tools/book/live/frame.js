// Python stays from page to page: a page that holds it opens whatever lies in the book in a frame over itself, for from
// file: nothing survives a change of page. The address keeps the page on show after "#/", so that back, forward, loading
// anew and marking work. Without Python a link is a link; links that lead out of the book get a window of their own.

(() => {
  const isFramed = window.parent !== window, START = "#/";
  const script = document.currentScript?.src; // live/page.js; a page of one file has it inside
  const root = new URL(script ? ".." : ".", script || location.href).href;
  const whole = (address) => new URL(address, root).href;

  // Where an address is in the book, or null.
  function within(address) {
    const { href } = new URL(address, document.baseURI);
    return href.startsWith(root) ? href.slice(root.length) : null;
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href]");
    if (!link || link.target || link.download || event.defaultPrevented) return;
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    if (!isFramed && !window.kafkalearn.isStarted) return;
    const address = within(link.getAttribute("href"));
    if (address === null) Object.assign(link, { target: "_blank", rel: "noopener" });
    else {
      event.preventDefault();
      if (isFramed) window.parent.postMessage({ kafkalearn: "go", address }, "*");
      else go(address);
    }
  });

  if (isFramed) {
    const say = () => window.parent.postMessage({ kafkalearn: "shown", title: document.title, address: within(location.href).replace(/#$/, "") }, "*");
    addEventListener("hashchange", say);
    say();
    return;
  }

  const title = document.title, own = within(location.pathname);
  let frame = null, endService = null, stoodAt = 0;

  function wanted() {
    const address = location.hash.startsWith(START) ? location.hash.slice(START.length) : "";
    return within(whole(address)) === null ? "" : address;
  }

  function go(address) {
    const [page, anchor = ""] = address.split("#");
    const hash = page === own ? `#${anchor}` : START + address;
    if (page === own && anchor) stoodAt = null;
    if (hash === (location.hash || "#")) follow();
    else location.hash = hash;
  }

  // A page gets a frame of its own, and an anchor on the page on show only moves it (a # at the end loads nothing anew):
  // so the frame has no history, and the hash of this page makes it alone.
  function follow() {
    const [page, anchor = ""] = wanted().split("#");
    if (page && page === frame?.page) return frame.contentWindow.location.replace(whole(`${page}#${anchor}`));
    if (frame) drop();
    document.body.classList.toggle("live-framing", Boolean(page));
    if (page) {
      frame = Object.assign(document.createElement("iframe"), { className: "live-frame", title: "A page of the book", src: whole(wanted()), page });
      document.body.append(frame);
    } else {
      document.title = title;
      if (stoodAt === null) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
      else scrollTo(0, stoodAt);
    }
  }

  function drop() {
    endService?.();
    frame.remove();
    frame = endService = null;
  }

  addEventListener("message", ({ data, source, ports }) => {
    if (!frame || source !== frame.contentWindow) return;
    if (data.kafkalearn === "port") {
      endService?.();
      endService = window.kafkalearn.serve(ports[0]);
    } else if (data.kafkalearn === "go") go(data.address);
    else if (data.kafkalearn === "shown") {
      document.title = data.title;
      frame.page = data.address.split("#")[0];
      if (data.address !== wanted()) history.replaceState(null, "", START + data.address);
      if (document.activeElement !== frame) frame.focus();
    }
  });
  addEventListener("scroll", () => { if (!frame) stoodAt = scrollY; });
  addEventListener("hashchange", () => { if (wanted() || frame) follow(); });
  if (wanted()) location.replace(whole(wanted())); // loaded anew: Python is gone
})();
