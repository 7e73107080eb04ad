import type { Article, GivenPage } from './article.ts'
import { readArticle } from './article-reader.ts'
import { decodeText } from './decode-text.ts'
import { recogniseWall } from './walls.ts'

/**
 * Reads the article of a page as it came. Throws `too_large`, and the failure that says so where what answered stands before
 * the article or in its place (`recogniseWall`).
 */
export function readPage(page: GivenPage, { roughly = false } = {}): Article {
  const html = page.html ?? decodeText(page.bytes, page.contentType).text
  const article = readArticle({ html, url: page.url }, { roughly })
  const wall =
    page.asked &&
    recogniseWall({
      ...page.asked,
      finalUrl: page.url,
      title: article.title,
      text: article.plain,
      html,
    })
  if (wall) throw wall
  return article
}
