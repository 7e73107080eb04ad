/** What some parser of YAML refuses, or takes for a line break, though JSON has it as it is. */
const ODD = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g

/** A value of JSON as YAML that every parser reads back as the same: JSON is YAML but for a few characters. */
export const yamlValue = (value: unknown): string =>
  JSON.stringify(value).replaceAll(ODD, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`)
