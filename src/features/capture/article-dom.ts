/** The part of the DOM that extraction uses; linkedom provides it without the browser's global types. */
export interface DomNode {
  nodeType: number
  parentNode: DomElement | null
  childNodes: Iterable<DomNode> & { length: number }
  textContent: string | null
}

export interface DomText extends DomNode {
  data: string
}

export interface DomElement extends DomNode {
  localName: string
  id: string
  parentElement: DomElement | null
  previousElementSibling: DomElement | null
  children: Iterable<DomElement> & { length: number }
  getAttribute(name: string): string | null
  hasAttribute(name: string): boolean
  setAttribute(name: string, value: string): void
  removeAttribute(name: string): void
  querySelector(selector: string): DomElement | null
  querySelectorAll(selector: string): Iterable<DomElement> & { length: number }
  closest(selector: string): DomElement | null
  replaceWith(...nodes: (DomNode | string)[]): void
  remove(): void
  append(...nodes: (DomNode | string)[]): void
}

export interface DomDocument extends DomNode {
  documentElement: DomElement | null
  head: DomElement
  body: DomElement
  createElement(name: string): DomElement
  querySelector(selector: string): DomElement | null
  querySelectorAll(selector: string): Iterable<DomElement> & { length: number }
}

export function isElement(node: DomNode): node is DomElement {
  return node.nodeType === 1
}

export function isText(node: DomNode): node is DomText {
  return node.nodeType === 3
}
