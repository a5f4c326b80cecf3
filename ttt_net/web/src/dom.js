/**
 * A page described by plain values, and the least change of the document that makes it so.
 *
 * Elements that stay the same keep their focus, scrolling and animations. Text only ever becomes text.
 */

const SVG = "http://www.w3.org/2000/svg";
const ATTRIBUTES = { label: "aria-label", hidden: "aria-hidden" };
const PROPERTIES = ["value", "valueAsNumber", "checked", "disabled", "open", "selected"];
const NOT_SET = ["key", "focus", "inSight"];
/** @type {WeakMap<Node, {key: string, props: any, tree?: any}>} */
const drawn = new WeakMap();

/** An element to be. */
class Tree {
  /** @param {string} spec @param {any} props @param {(Tree | string)[]} children */
  constructor(spec, props, children) {
    this.spec = spec;
    this.props = props;
    this.children = children;
  }
}

/** Put together what there is of some texts. */
export const joined = (/** @type {any[]} */ parts, between = " · ") => parts.filter(Boolean).join(between);

/**
 * Describe an element: `h("p.quiet", {id: "a"}, "text", ...)`, where properties may be left out.
 *
 * `key` tells it from siblings with the same tag and classes, `class` may be a list, `style` is an object, `on...` are
 * functions, `focus` takes the focus when the element appears, `inSight` scrolls it into sight; `label` and `hidden` are what
 * they are to a screen reader. Children that are false, null or empty are left out.
 *
 * @param {string} spec
 * @param {...any} rest
 */
export function h(spec, ...rest) {
  const props = rest[0]?.constructor === Object ? { ...rest.shift() } : {};
  props.class = joined([...spec.split(".").slice(1), props.class].flat(), " ");
  const children = rest.flat(9).filter((child) => child || child === 0);
  return new Tree(spec, props, children.map((child) => (child instanceof Tree ? child : String(child))));
}

/** A button: its words, what it does, how it looks, what it is called if not by its words, and more. */
export const button = (/** @type {any} */ words, /** @type {any} */ onclick, look = "", label = "", more = {}) =>
  h("button", { type: "button", class: look, label, onclick, key: words, ...more }, words);

/** A form, and what is done with its fields, by their names, when it is sent. */
export function form(/** @type {string} */ spec, /** @type {(fields: any, form: HTMLFormElement) => void} */ send, ...children) {
  const onsubmit = (event) => {
    event.preventDefault();
    send(Object.fromEntries(new FormData(event.target)), event.target);
  };
  return h(spec, { onsubmit }, children);
}

/** A line to be filled in. */
export const line = (/** @type {string} */ name, /** @type {string} */ words, more = {}) =>
  h("input", { type: "text", name, label: words, placeholder: words, required: true, ...more });

/** Something to be on or off. */
export const check = (/** @type {string} */ words, /** @type {boolean} */ checked, /** @type {(on: boolean) => void} */ act) =>
  h("label.check", h("input", { type: "checkbox", checked, onchange: (event) => act(event.target.checked) }), words);

/** One of several to choose from. */
export const option = (name, words, checked, onchange) =>
  h("label.option", { inSight: checked }, h("input", { type: "radio", name, checked, onchange }), h("span", words));

/** Some words to choose one of. */
export const choices = (legend, values, chosen, choose) =>
  h("fieldset.choices", h("legend", legend), values.map((each) => option(legend, each, each === chosen, () => choose(each))));

/** A part of a screen, called by its title. */
export const panel = (/** @type {string} */ title, ...children) => h("section.panel", { key: title, label: title }, children);

/** What fills the window: it takes the focus when it appears. */
export const screen = (/** @type {string} */ spec, /** @type {string} */ key, ...children) =>
  h(spec, { key, tabindex: -1, focus: true }, children);

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
  const keys = trees.map((tree) => {
    const [kind, key] = tree instanceof Tree ? [tree.spec, tree.props.key] : ["#text"];
    return `${kind} ${key ?? (counts[kind] = (counts[kind] ?? 0) + 1)}`;
  });
  for (const [key, node] of before) if (!keys.includes(key)) node.remove();
  trees.forEach((tree, place) => {
    const old = before.get(keys[place]);
    const node = old ?? create(tree, parent, keys[place]);
    if (parent.childNodes[place] !== node) parent.insertBefore(node, parent.childNodes[place] ?? null);
    if (!(tree instanceof Tree)) {
      if (node.textContent !== tree) node.textContent = tree;
      return;
    }
    const known = drawn.get(node);
    if (known.tree === tree) return;
    const { props } = tree;
    for (const name in { ...known.props, ...props })
      if (name === "value" || known.props[name] !== props[name]) set(node, name, props[name]);
    drawn.set(node, { key: keys[place], props, tree });
    if (!old && props.focus) node.focus({ preventScroll: true });
    patch(node, tree.children);
    if (!old && props.inSight) node.scrollIntoView({ inline: "center", block: "nearest" });
  });
}

function create(tree, parent, key) {
  const tag = tree.spec?.split(".")[0];
  const space = tag === "svg" ? SVG : parent.namespaceURI;
  const node = tag ? document.createElementNS(space, tag) : document.createTextNode(tree);
  drawn.set(node, { key, props: {} });
  return node;
}

function set(element, name, value) {
  if (name === "style") for (const each in value) element.style.setProperty(each, value[each]);
  else if (name.startsWith("on")) element[name] = value;
  else if (PROPERTIES.includes(name)) {
    const wanted = value ?? (name === "value" ? "" : false);
    if (element[name] !== wanted) element[name] = wanted;
  } else if (!NOT_SET.includes(name)) {
    const attribute = ATTRIBUTES[name] ?? name;
    if (value || value === 0) element.setAttribute(attribute, value);
    else element.removeAttribute(attribute);
  }
}
