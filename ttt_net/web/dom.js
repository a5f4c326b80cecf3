/**
 * A page described by plain values, and the least change of the document that makes it so.
 *
 * Elements that stay the same element keep their focus, their scrolling and their running animations. Text only ever
 * becomes text: nothing here makes markup of it.
 *
 * @typedef {{tag: string, props: Record<string, any>, children: (Tree | string)[]}} Tree
 * @typedef {Tree | string | number | false | null | undefined | Child[]} Child
 */

const SVG = "http://www.w3.org/2000/svg";
const SVG_TAGS = new Set(["svg", "g", "path", "circle", "line", "rect", "polyline", "title"]);
const PROPERTIES = new Set(["value", "checked", "disabled", "open", "selected"]);

/** @type {WeakMap<Node, {key: string, props: Record<string, any>}>} */
const drawn = new WeakMap();

/**
 * Describe an element. `key` tells it from its siblings; `style` is an object; `on...` are functions;
 * `modal` opens a dialog above the page; `focus` takes the focus when the element appears.
 *
 * @param {string} tag
 * @param {Record<string, any> | null} [props]
 * @param {...Child} children
 * @returns {Tree}
 */
export function h(tag, props, ...children) {
  /** @type {any[]} */
  const flat = children.flat(9).filter((child) => child !== null && child !== undefined && child !== false);
  return { tag, props: props ?? {}, children: flat.map((child) => (typeof child === "number" ? String(child) : child)) };
}

/**
 * Make the children of `parent` what the trees describe.
 *
 * @param {Element} parent
 * @param {(Tree | string)[]} trees
 */
export function patch(parent, trees) {
  /** @type {Map<string, ChildNode>} */
  const before = new Map();
  for (const node of parent.childNodes) before.set(drawn.get(node)?.key ?? "", node);
  /** @type {Map<string, number>} */
  const counts = new Map();
  const wanted = trees.map((tree) => {
    const tag = typeof tree === "string" ? "#text" : tree.tag;
    const name = typeof tree === "string" ? undefined : tree.props.key;
    if (name !== undefined) return `${tag} ${name}`;
    counts.set(tag, (counts.get(tag) ?? 0) + 1);
    return `${tag} #${counts.get(tag)}`;
  });
  const kept = new Set(wanted);
  for (const [key, node] of before) if (!kept.has(key)) node.remove();
  trees.forEach((tree, place) => {
    const old = before.get(wanted[place]);
    const node = old ?? create(tree, parent, wanted[place]);
    if (parent.childNodes[place] !== node) parent.insertBefore(node, parent.childNodes[place] ?? null);
    if (typeof tree === "string") {
      if (node.textContent !== tree) node.textContent = tree;
      return;
    }
    const element = /** @type {Element} */ (node);
    update(element, tree);
    patch(element, tree.children);
    if (!old) appeared(element, tree.props);
  });
}

/**
 * @param {Tree | string} tree
 * @param {Element} parent
 * @param {string} key
 */
function create(tree, parent, key) {
  /** @type {ChildNode} */
  let node;
  if (typeof tree === "string") node = document.createTextNode(tree);
  else if (SVG_TAGS.has(tree.tag) && (tree.tag === "svg" || parent.namespaceURI === SVG)) {
    node = document.createElementNS(SVG, tree.tag);
  } else node = document.createElement(tree.tag);
  drawn.set(node, { key, props: {} });
  return node;
}

/**
 * @param {Element} element
 * @param {Tree} tree
 */
function update(element, tree) {
  const known = /** @type {{key: string, props: Record<string, any>}} */ (drawn.get(element));
  for (const name of Object.keys(known.props)) if (!(name in tree.props)) set(element, name, null);
  for (const [name, value] of Object.entries(tree.props)) {
    if (name === "value" || known.props[name] !== value) set(element, name, value);
  }
  known.props = tree.props;
}

/**
 * @param {any} element
 * @param {string} name
 * @param {any} value
 */
function set(element, name, value) {
  if (name === "key" || name === "focus" || name === "modal") return;
  if (name === "style") {
    for (const [property, setting] of Object.entries(value ?? {})) element.style.setProperty(property, String(setting));
  } else if (name.startsWith("on")) element[name] = value;
  else if (PROPERTIES.has(name)) {
    const right = value ?? (name === "value" ? "" : false);
    if (element[name] !== right) element[name] = right;
  } else if (value === null || value === undefined || value === false) element.removeAttribute(name);
  else element.setAttribute(name, value === true ? "" : String(value));
}

/**
 * @param {any} element
 * @param {Record<string, any>} props
 */
function appeared(element, props) {
  if (props.modal) element.showModal();
  if (props.focus) element.focus({ preventScroll: true });
}
