export { pickPassages } from '../src/features/reading-aid/pick-passages.ts'
export { sentencesOfText } from '../src/features/reading-aid/sentences-of-text.ts'
export { createBuiltInEmbedder } from '../src/outside/embeddings.ts'
