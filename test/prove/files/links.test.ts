import { program } from './links.ts'
import { short } from '../short.ts'

await short('links', program)
