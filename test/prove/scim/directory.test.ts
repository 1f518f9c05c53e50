import { program } from './directory.ts'
import { short } from '../short.ts'

await short('directory', program)
