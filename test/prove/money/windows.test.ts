import { short } from '../short.ts'
import { program } from './windows.ts'

await short('windows', program)
