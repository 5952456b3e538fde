// The section that one is in is in sight, also where not all of them are.
const show = (tries) => {
  const current = document.querySelector(".tabs [aria-current]");
  if (current) current.parentElement.scrollLeft = current.offsetLeft - current.parentElement.clientWidth / 2 + current.clientWidth / 2;
  else if (tries) requestAnimationFrame(() => show(tries - 1));
};
show(300);

// "/" goes to the search of the page, as long as nobody writes somewhere.
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select, [contenteditable=true]")) return;
  const search = document.querySelector(".search input");
  if (!search) return;
  event.preventDefault();
  search.focus();
  search.select();
});
