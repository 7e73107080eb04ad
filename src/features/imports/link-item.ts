import type { ImportReport, RowPlace } from './import-report.ts'
import { itemOf, noSource, type ImportedItem } from './imported.ts'
import { oneLine } from './names.ts'
import { kindOfAddress, webAddress } from './web-address.ts'

/** A saved page by its address and title; undefined, and told in the report, where the address is none of the web. */
export function linkItem(
  address: string,
  stated: string,
  place: RowPlace,
  report: ImportReport,
): ImportedItem | undefined {
  const url = webAddress(address)
  if (url === null) {
    report.pass('refused', address.trim() === '' ? 'no_address' : 'not_web', place)
    return undefined
  }
  const title = oneLine(stated)
  // Services without a title for a page show its address.
  return itemOf({ ...noSource(kindOfAddress(url)), url, title: title === url || title === '' ? null : title })
}
