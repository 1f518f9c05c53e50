import { short } from '../short.ts'
import { program } from './starts.ts'

await short('starts', program)
