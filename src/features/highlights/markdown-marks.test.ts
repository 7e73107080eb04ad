import { describe, expect, it } from 'vitest'
import { withoutMarks } from './markdown-marks.ts'

describe('withoutMarks', () => {
  it.each([
    ['**Bold** and *so* on', 'Bold and so on'],
    ['a [link](https://a.test/x_(y) "t") and ![picture](p.png)', 'a link and picture'],
    ['a [name][ref], a note[^1]', 'a name, a note'],
    ['`code_with_marks` and snake_case and _stress_', 'code_with_marks and snake_case and stress'],
    ['## Title\n> quoted\n- one\n2. two', 'Title\nquoted\none\ntwo'],
    ['| a | b |\n|---|:-:|\n| c | d |', '  a   b  \n\n  c   d  '],
    ['5 \\* 3 \\_ \\[x\\] line\\\nend', '5 * 3 _ [x] line\nend'],
    ['x<sup>2</sup><br>y &#x20;', 'x2\ny  '],
    ['[![badge](b.svg)](https://a.test) shown', 'badge shown'],
    ['- [x] done\n- [ ] to do', 'done\nto do'],
    ['`a * b_` and ``*`` &lt;br&gt; R&amp;D', 'a * b_ and * <br> R&D'],
    ['**`error`**: pass `null`', 'error: pass null'],
    ['| a \\| b |', '  a | b  '],
    ['<Tale of Jang> and vector<int>', '<Tale of Jang> and vector<int>'],
    ['if a < b and b > c', 'if a < b and b > c'],
  ])('%j says %j', (markdown, words) => {
    expect(withoutMarks(markdown)).toBe(words)
  })

  it('takes time linear to the quote', () => {
    for (const piece of ['[', '[a](', '*_', '<a ', '![[', '\\', '[^', '|']) {
      expect(withoutMarks(piece.repeat(50_000)).length).toBeLessThanOrEqual(piece.length * 50_000)
    }
  })
})
