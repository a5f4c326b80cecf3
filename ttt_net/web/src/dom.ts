/**
 * Screens as plain values, and the minimal changes of the document to show them.
 *
 * Unchanged elements keep their focus, scrolling and animations. Text never becomes markup.
 */

const SVG = "http://www.w3.org/2000/svg";
const ATTRIBUTES: Record<string, string> = { label: "aria-label", hidden: "aria-hidden" };
const PROPERTIES = ["value", "valueAsNumber", "checked", "disabled", "open", "selected"];
const NOT_SET = ["key", "focus", "inSight"];

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- properties of elements are of many types
type Props = Record<string, any>;
/** A child of an element; false, null, undefined and empty texts are omitted. */
export type Child = Tree | string | number | false | null | undefined | "" | Child[];
/** The action of a button. */
export type Act = () => unknown;

const drawn = new WeakMap<Node, { key: string; props: Props; tree?: Tree }>();

/** The description of an element. */
export class Tree {
  constructor(
    readonly spec: string,
    readonly props: Props,
    readonly children: (Tree | string)[],
  ) {}
}

/** Join the parts that are not empty. */
export const joined = (parts: unknown[], between = " · "): string => parts.filter(Boolean).join(between);

/**
 * Describe an element: `h("p.quiet", {id: "a"}, "text", ...)`, where properties are optional.
 *
 * `key` distinguishes it from siblings with the same tag and classes, `class` may be a list, `style` is an object,
 * `on...` are functions, `focus` takes the focus when the element appears, `inSight` scrolls the parent so that the
 * element is visible when it appears, and with "follow" whenever it is set; `label` and `hidden` are for screen
 * readers.
 */
export function h(spec: string, ...rest: (Props | Child)[]): Tree {
  const first = rest[0];
  const props: Props = isProps(first) ? { ...first } : {};
  if (isProps(first)) rest.shift();
  props.class = joined([...spec.split(".").slice(1), props.class].flat(), " ");
  const children = (rest as Child[]).flat(9).filter((child) => child || child === 0);
  return new Tree(
    spec,
    props,
    children.map((child) => (child instanceof Tree ? child : String(child))),
  );
}

const isProps = (value: unknown): value is Props => (value as object | null)?.constructor === Object;

/** A button: its text, action, classes, accessible name if it differs from the text, and further properties. */
export const button = (words: Child, onclick: Act, look: string | false | undefined = "", label = "", more: Props = {}): Tree =>
  h("button", { type: "button", class: look, label, onclick, key: typeof words === "string" ? words : label, ...more }, words);

/** A form. `send` gets its fields by name. */
export function form(spec: string, send: (fields: Record<string, string>, form: HTMLFormElement) => unknown, ...children: Child[]): Tree {
  const onsubmit = (event: SubmitEvent) => {
    event.preventDefault();
    const sent = event.target as HTMLFormElement;
    send(Object.fromEntries([...new FormData(sent)].map(([name, value]) => [name, String(value)])), sent);
  };
  return h(spec, { onsubmit }, children);
}

/** A text field. */
export const line = (name: string, words: string, more: Props = {}): Tree =>
  h("input", { type: "text", name, label: words, placeholder: words, required: true, ...more });

/** A switch. */
export const check = (words: string, checked: boolean, act: (on: boolean) => unknown): Tree =>
  h(
    "label.check",
    { key: words },
    h("input", { type: "checkbox", checked, onchange: (event: Event) => act((event.target as HTMLInputElement).checked) }),
    words,
  );

/** One of several to choose from. */
export const option = (name: string, words: Child, checked: boolean, onchange: Act, key = ""): Tree =>
  h("label.option", { inSight: checked, key: key || words }, h("input", { type: "radio", name, checked, onchange }), h("span", words));

/** Radio buttons; each value has a name and a label. */
export const choices = <T extends string>(legend: string, values: readonly (readonly [T, string])[], chosen: T, choose: (value: T) => unknown, disabled = false): Tree =>
  h(
    "fieldset.choices",
    { key: legend, disabled },
    h("legend", legend),
    values.map(([value, words]) => option(legend, words, value === chosen, () => choose(value))),
  );

/** A section with a title. */
export const panel = (title: string, ...children: Child[]): Tree => h("section.panel", { key: title, label: title }, children);

/** A screen that fills the window; it takes the focus when it appears. */
export const screen = (spec: string, key: string, ...children: Child[]): Tree => h(spec, { key, tabindex: -1, focus: true }, children);

/** Update the children of `parent` to match the trees. A tree that is the same object as last time is skipped. */
export function patch(parent: Element, trees: (Tree | string)[]): void {
  const before = new Map<string | undefined, ChildNode>();
  for (const node of parent.childNodes) before.set(drawn.get(node)?.key, node);
  const keys = keysOf(trees);
  for (const [key, node] of before) if (key === undefined || !keys.includes(key)) node.remove();
  trees.forEach((tree, place) => {
    const key = keys[place]!;
    const old = before.get(key);
    const node = old ?? create(tree, parent, key);
    if (parent.childNodes[place] !== node) parent.insertBefore(node, parent.childNodes[place] ?? null);
    if (!(tree instanceof Tree)) {
      if (node.textContent !== tree) node.textContent = tree;
    } else if (drawn.get(node)?.tree !== tree) update(node as HTMLElement, tree, key, !old);
  });
}

function keysOf(trees: (Tree | string)[]): string[] {
  const counts: Record<string, number> = {};
  return trees.map((tree) => {
    const [kind, key] = tree instanceof Tree ? [tree.spec, tree.props.key || undefined] : ["#text", undefined];
    if (key === undefined) counts[kind] = (counts[kind] ?? 0) + 1;
    return `${kind} ${key ?? counts[kind]}`;
  });
}

function update(node: HTMLElement, tree: Tree, key: string, isNew: boolean): void {
  const { props } = tree;
  const known = drawn.get(node)?.props ?? {};
  for (const name in { ...known, ...props }) if (name === "value" || known[name] !== props[name]) set(node, name, props[name]);
  drawn.set(node, { key, props, tree });
  if (isNew && props.focus) node.focus({ preventScroll: true });
  patch(node, tree.children);
  // Its place is known once all is drawn; asking before would lay out the screen twice.
  if (props.inSight && (isNew || (props.inSight === "follow" && !known.inSight))) queueMicrotask(() => show(node));
}

/** Scroll the parent of an element so that the element is centred. */
function show(node: Element): void {
  const around = node.parentElement;
  if (!around) return;
  const [own, whole] = [node.getBoundingClientRect(), around.getBoundingClientRect()];
  around.scrollBy(own.left + own.width / 2 - whole.left - whole.width / 2, own.top + own.height / 2 - whole.top - whole.height / 2);
}

function create(tree: Tree | string, parent: Element, key: string): ChildNode {
  const tag = tree instanceof Tree ? tree.spec.split(".")[0] : null;
  const space = tag === "svg" ? SVG : parent.namespaceURI;
  const node = tag ? document.createElementNS(space, tag) : document.createTextNode(String(tree));
  drawn.set(node, { key, props: {} });
  return node;
}

function set(element: HTMLElement & Props, name: string, value: Props[string]): void {
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

/** Act with the next frame, or soon in a hidden page, whose title shows our turn. */
export function nextFrame(act: () => void): void {
  if (document.hidden) setTimeout(act);
  else requestAnimationFrame(act);
}

/** Act once the next frame is on the screen, which a tap must not wait for. */
export const afterPaint = (act: () => void): void => nextFrame(() => setTimeout(act));
