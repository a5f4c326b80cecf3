/**
 * A page described by plain values, and the least change of the document that makes it so.
 *
 * Elements that stay the same keep their focus, scrolling and animations. Text only ever becomes text.
 *
 * @typedef {{tag: string, props: any, children: (Tree | string)[]}} Tree
 */

const SVG = "http://www.w3.org/2000/svg";
const ATTRIBUTES = { label: "aria-label", hidden: "aria-hidden" };
const PROPERTIES = ["value", "checked", "disabled", "open", "selected"];
/** @type {WeakMap<Node, {key: string, props: any, tree?: any}>} */
const drawn = new WeakMap();

/**
 * Describe an element: `h("p.quiet", {id: "a"}, "text", ...)`, where properties may be left out.
 *
 * `key` tells it from its siblings, `style` is an object, `on...` are functions, `modal` opens a dialog above the page,
 * `focus` takes the focus when the element appears, `inSight` scrolls it into sight; `label` and `hidden` are what they
 * are to a screen reader. Children that are false or null are left out.
 *
 * @param {string} spec
 * @param {...any} rest
 * @returns {Tree}
 */
export function h(spec, ...rest) {
  const [tag, ...classes] = spec.split(".");
  const hasProps = rest[0] && typeof rest[0] === "object" && !Array.isArray(rest[0]) && !("tag" in rest[0]);
  const props = hasProps ? { ...rest.shift() } : {};
  if (classes.length) props.class = [...classes, props.class].filter(Boolean).join(" ");
  const children = rest.flat(9).filter((child) => child !== false && child !== null && child !== undefined && child !== "");
  return { tag, props, children: children.map((child) => (typeof child === "object" ? child : String(child))) };
}

/** A button: its words, what it does, how it looks, what it is called if not by its words, and more. @returns {Tree} */
export function button(/** @type {any} */ words, /** @type {any} */ onclick, look = "", label = "", more = {}) {
  return h("button", { type: "button", class: look, label, onclick, key: words.tag ? undefined : words, ...more }, words);
}

/**
 * Make the children of `parent` what the trees describe; one that is the very same as last time is not looked into.
 *
 * @param {Element} parent
 * @param {(Tree | string)[]} trees
 */
export function patch(parent, trees) {
  const before = new Map();
  for (const node of parent.childNodes) before.set(drawn.get(node)?.key, node);
  const counts = {};
  const wanted = trees.map((tree) => {
    const tag = typeof tree === "string" ? "#text" : tree.tag;
    const key = typeof tree === "string" ? undefined : tree.props.key;
    return `${tag} ${key ?? `#${(counts[tag] = (counts[tag] ?? 0) + 1)}`}`;
  });
  for (const [key, node] of before) if (!wanted.includes(key)) node.remove();
  trees.forEach((tree, place) => {
    const old = before.get(wanted[place]);
    const node = old ?? create(tree, parent, wanted[place]);
    if (parent.childNodes[place] !== node) parent.insertBefore(node, parent.childNodes[place] ?? null);
    if (typeof tree === "string") {
      if (node.textContent !== tree) node.textContent = tree;
      return;
    }
    const known = drawn.get(node);
    if (known.tree === tree) return;
    known.tree = tree;
    update(node, tree.props);
    patch(node, tree.children);
    if (!old && tree.props.modal) node.showModal();
    if (!old && tree.props.focus) node.focus({ preventScroll: true });
    if (!old && tree.props.inSight) node.scrollIntoView({ inline: "center", block: "nearest" });
  });
}

function create(tree, parent, key) {
  const isDrawing = tree.tag === "svg" || parent.namespaceURI === SVG;
  const node =
    typeof tree === "string" ? document.createTextNode(tree)
    : isDrawing ? document.createElementNS(SVG, tree.tag)
    : document.createElement(tree.tag);
  drawn.set(node, { key, props: {} });
  return node;
}

function update(element, props) {
  const known = drawn.get(element);
  for (const name in known.props) if (!(name in props)) set(element, name, null);
  for (const name in props) if (name === "value" || known.props[name] !== props[name]) set(element, name, props[name]);
  known.props = props;
}

function set(element, name, value) {
  if (["key", "focus", "inSight", "modal"].includes(name)) return;
  if (name === "style") for (const each in value) element.style.setProperty(each, value[each]);
  else if (name.startsWith("on")) element[name] = value;
  else if (PROPERTIES.includes(name)) {
    const wanted = value ?? (name === "value" ? "" : false);
    if (element[name] !== wanted) element[name] = wanted;
  } else {
    const attribute = ATTRIBUTES[name] ?? name;
    if (value === null || value === undefined || value === false || value === "") element.removeAttribute(attribute);
    else element.setAttribute(attribute, value);
  }
}
