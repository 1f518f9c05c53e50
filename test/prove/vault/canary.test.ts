import { program } from './canary.ts'
import { short } from '../short.ts'

await short('canary', program)
