import { breather } from '../../../core/breath.ts'
import type { ImportFormat } from '../define-format.ts'
import { GatheredSources } from '../gather-sources.ts'
import type { ImportFile } from '../import-file.ts'
import type { RowPlace } from '../import-report.ts'
import {
  highlightOf,
  noSource,
  noteOf,
  type ImportedHighlight,
  type ImportedItem,
  type ImportedLocator,
  type ImportedSource,
} from '../imported.ts'
import { isObject, listOf, numberOf, textOf, type JsonObject } from '../json-values.ts'
import { fullText, oneLine, tagsIn } from '../names.ts'
import { datedRow } from '../read-dates.ts'
import { kindOfAddress, webAddress } from '../web-address.ts'

/**
 * Hypothes.is: what its search API answers (`rows`), what its client exports (`annotations`), or a bare list of annotations.
 * https://h.readthedocs.io/en/latest/api-reference/v1/
 */
export const hypothesisJson: ImportFormat = {
  id: 'hypothesis-json',
  title: 'Hypothes.is, JSON',
  recognises: (file) => annotationsIn(file)?.some(isAnnotation) ?? false,
  read: async function* (file, report) {
    const breathe = breather()
    const sources = new GatheredSources()
    const annotations = annotationsIn(file) ?? []
    const reader = readerOf(file.json, annotations)
    /** What replies can go to, by id. */
    const targets = new Map<string, { item: ImportedItem; highlight: ImportedHighlight | null }>()
    /** Where highlights begin in their pages, for the order of reading. */
    const starts = new Map<ImportedHighlight, number>()
    const replies: { annotation: JsonObject; place: RowPlace }[] = []
    for (const [i, annotation] of annotations.entries()) {
      await breathe()
      const text = isObject(annotation) ? `${quoteOf(annotation).exact} ${textOf(annotation['text'])}` : ''
      const place: RowPlace = { row: i + 1, text }
      if (!isObject(annotation) || !isAnnotation(annotation)) report.pass('refused', 'unrecognised', place)
      else if (listOf(annotation['references']).length > 0) replies.push({ annotation, place })
      else takeAnnotation(annotation, place)
    }
    for (const { annotation, place } of replies) takeReply(annotation, place)
    for (const item of sources.values()) {
      item.highlights.sort(
        (a, b) => (starts.get(a) ?? Infinity) - (starts.get(b) ?? Infinity) || a.row - b.row,
      )
      yield item
    }

    function takeAnnotation(annotation: JsonObject, place: RowPlace): void {
      const source = sourceOf(annotation)
      const { exact, prefix, suffix, start } = quoteOf(annotation)
      const body = fullText(textOf(annotation['text']))
      const isOthers = byOf(annotation, reader) !== null
      if (!source) return report.pass('refused', 'no_address', place)
      if (exact === '' && body === '') return report.pass('refused', 'no_words', place)
      if (isOthers) return report.pass('left', 'of_others', place)
      report.take()
      const item = sources.of(source)
      const { created, unreadDate } = datedRow(textOf(annotation['created']), place, report)
      const note = body === '' ? [] : [{ ...noteOf(body, place.row), created }]
      const tags = tagsIn(listOf(annotation['tags']).map(textOf).join('\n'), '\n')
      const id = textOf(annotation['id'])
      if (exact === '') {
        item.notes.push(...note)
        for (const tag of tags) if (!item.tags.includes(tag)) item.tags.push(tag)
        targets.set(id, { item, highlight: null })
        return undefined
      }
      const highlight: ImportedHighlight = {
        ...highlightOf(exact, place.row),
        prefix,
        suffix,
        locator: locatorOf(annotation),
        notes: note,
        tags,
        created,
        unreadDate,
      }
      if (start !== null) starts.set(highlight, start)
      item.highlights.push(highlight)
      targets.set(id, { item, highlight })
      return undefined
    }

    function takeReply(annotation: JsonObject, place: RowPlace): void {
      const body = fullText(textOf(annotation['text']))
      const source = sourceOf(annotation)
      const target = listOf(annotation['references'])
        .map((id) => targets.get(textOf(id)))
        .find((found) => found !== undefined)
      if (body === '') return report.pass('refused', 'no_words', place)
      if (!target && !source) return report.pass('refused', 'no_address', place)
      report.take()
      const { created } = datedRow(textOf(annotation['created']), place, report)
      const note = { ...noteOf(body, place.row), created, by: byOf(annotation, reader) }
      if (target?.highlight) target.highlight.notes.push(note)
      else if (target) target.item.notes.push(note)
      else if (source) {
        report.remark('reply_alone', place)
        sources.of(source).notes.push(note)
      }
      return undefined
    }
  },
}

function annotationsIn(file: ImportFile): unknown[] | undefined {
  if (!file.isJson || !/"(?:uri|target|references)"/.test(file.head)) return undefined
  const { json } = file
  if (Array.isArray(json)) return json
  if (!isObject(json)) return undefined
  const list = json['rows'] ?? json['annotations']
  return Array.isArray(list) ? list : undefined
}

const isAnnotation = (value: unknown): boolean =>
  isObject(value) &&
  typeof value['uri'] === 'string' &&
  (Array.isArray(value['target']) || Array.isArray(value['references']) || 'user' in value)

/** The account whose export it is: the one that it names, else the one with the most annotations. */
function readerOf(json: unknown, annotations: readonly unknown[]): string {
  const stated = isObject(json) ? textOf(json['export_userid']) : ''
  if (stated !== '') return stated
  const counts = new Map<string, number>()
  for (const annotation of annotations) {
    const user = isObject(annotation) ? textOf(annotation['user']) : ''
    if (user !== '') counts.set(user, (counts.get(user) ?? 0) + 1)
  }
  return [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0] ?? ''
}

/** The name of somebody else; null for the reader. */
function byOf(annotation: JsonObject, reader: string): string | null {
  const user = textOf(annotation['user'])
  if (user === '' || user === reader) return null
  const info = annotation['user_info']
  const shown = isObject(info) ? oneLine(textOf(info['display_name'])) : ''
  return shown || user.replace(/^acct:/, '')
}

function sourceOf(annotation: JsonObject): ImportedSource | undefined {
  const uri = textOf(annotation['uri']).trim()
  const [target] = listOf(annotation['target'])
  const url = webAddress(uri) ?? webAddress(isObject(target) ? textOf(target['source']) : '')
  const document = annotation['document']
  const titles = isObject(document) ? document['title'] : undefined
  const title = oneLine(textOf(Array.isArray(titles) ? titles[0] : titles))
  if (url === null && title === '') return undefined
  const isPdf = uri.startsWith('urn:x-pdf:') || /^file:.*\.pdf$/i.test(uri)
  return { ...noSource(isPdf ? 'pdf' : kindOfAddress(url ?? '')), url, title: title || null }
}

function selectorsOf(annotation: JsonObject): JsonObject[] {
  return listOf(annotation['target']).flatMap((target) =>
    isObject(target) ? listOf(target['selector']).filter(isObject) : [],
  )
}

function quoteOf(annotation: JsonObject) {
  let exact = ''
  let prefix: string | null = null
  let suffix: string | null = null
  let start: number | null = null
  for (const selector of selectorsOf(annotation)) {
    if (selector['type'] === 'TextQuoteSelector') {
      exact = fullText(textOf(selector['exact']))
      prefix = textOf(selector['prefix']).toWellFormed() || null
      suffix = textOf(selector['suffix']).toWellFormed() || null
    }
    if (selector['type'] === 'TextPositionSelector') start = numberOf(selector['start'])
  }
  return { exact, prefix, suffix, start }
}

function locatorOf(annotation: JsonObject): ImportedLocator | null {
  const locator: ImportedLocator = {}
  for (const selector of selectorsOf(annotation)) {
    const type = selector['type']
    if (type === 'PageSelector') {
      const label = oneLine(textOf(selector['label']))
      const index = numberOf(selector['index'])
      if (label !== '') locator.page = label
      else if (index !== null) locator.page = String(index + 1)
    }
    if (type === 'EPUBContentSelector') {
      const cfi = textOf(selector['cfi'])
      const chapter = oneLine(textOf(selector['title']))
      if (cfi !== '') locator.cfi = cfi
      if (chapter !== '') locator.chapter = chapter
    }
    if (type === 'MediaTimeSelector') {
      const seconds = numberOf(selector['start'])
      if (seconds !== null && seconds >= 0) locator.seconds = seconds
    }
  }
  return Object.keys(locator).length > 0 ? locator : null
}
