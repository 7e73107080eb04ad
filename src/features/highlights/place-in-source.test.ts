import { expect, it } from 'vitest'
import { placeInSource } from './place-in-source.ts'

it.each([
  [null, null, null],
  ['{"page":12}', 'page 12', null],
  ['{"page":"xiv"}', 'page xiv', null],
  ['{"location":1234}', 'location 1234', null],
  ['{"percent":45.5}', '45.5 %', null],
  ['{"label":"Chapter 3","page":40}', 'Chapter 3', null],
  ['{"cfi":"epubcfi(/6/4!/4/2)"}', 'epubcfi(/6/4!/4/2)', null],
  ['{"seconds":83.5}', null, 83.5],
  ['{"seconds":0,"label":"Intro"}', 'Intro', 0],
  // What is no locator says nothing.
  ['{"seconds":-1,"label":" "}', null, null],
  ['{"page":{"n":1}}', null, null],
  ['[1]', null, null],
  ['"page 3"', null, null],
  ['not JSON', null, null],
])('%s', (locator, location, seconds) => {
  expect(placeInSource(locator)).toEqual({ location, seconds })
})
