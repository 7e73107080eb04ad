import { expect, test } from 'vitest'
import { checkAccount, readImport } from '../../../../test/support/imports.ts'

test('links in nested folders, with dates, tags and descriptions', async () => {
  const read = await readImport(`<!DOCTYPE NETSCAPE-Bookmark-file-1>
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
<TITLE>Bookmarks</TITLE>
<H1>Bookmarks</H1>
<DL><p>
    <DT><H3 ADD_DATE="1600000000">Work</H3>
    <DD>All of it
    <DL><p>
        <DT><H3>Invoices</H3>
        <DL><p>
            <DT><A HREF="https://example.org/a?x=1&amp;y=2" ADD_DATE="1600000000" TAGS="one,two words" ICON="data:image/png;base64,AA>A==">A &lt;first&gt; page</A>
            <DD>What it is about
and more of it
        </DL><p>
        <DT><A HREF="https://example.org/b" ADD_DATE="1600000000000">B</A>
    </DL><p>
    <DT><H3>Invoices</H3>
    <DL><p>
        <DT><A HREF="https://example.org/c">C</A>
        <DT><A HREF="place:sort=8">Recent</A>
        <DT><A HREF="javascript:void(0)">Bookmarklet</A>
        <DT><A HREF="https://EXAMPLE.org:443/c/?utm_source=x">C once more</A>
    </DL><p>
    <DT><A HREF="https://example.org/d" data-important="true">D
</DL>`)
  expect(read.format).toBe('netscape-bookmarks')
  expect(read.items).toMatchObject([
    {
      source: { title: 'A <first> page', url: 'https://example.org/a?x=1&y=2' },
      folder: ['Work', 'Invoices'],
      tags: ['one', 'two words'],
      notes: [{ body: 'What it is about\nand more of it' }],
      reading: { saved: '2020-09-13T12:26:40.000Z' },
    },
    { source: { title: 'B' }, folder: ['Work'], reading: { saved: '2020-09-13T12:26:40.000Z' } },
    { source: { title: 'C' }, folder: ['Invoices'], reading: { saved: null } },
    { source: { title: 'D' }, folder: [], reading: { favourite: true } },
  ])
  expect(read.outcomes).toEqual(['4 refused not_web', '5 refused not_web', '6 joined repeated'])
  checkAccount(read)
})
