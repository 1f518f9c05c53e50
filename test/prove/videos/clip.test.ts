import { program } from './clip.ts'
import { short } from '../short.ts'

await short('clip', program)
