import { program } from './seal.ts'
import { short } from '../short.ts'

await short('seal', program)
