import { program } from './callbacks.ts'
import { short } from '../short.ts'

await short('callbacks', program)
