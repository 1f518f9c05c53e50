import { program } from './corpus.ts'
import { short } from '../short.ts'

await short('corpus', program)
