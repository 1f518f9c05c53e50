import { program } from './audit.ts'
import { short } from '../short.ts'

await short('audit', program)
