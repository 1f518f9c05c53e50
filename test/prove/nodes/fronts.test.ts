import { program } from './fronts.ts'
import { short } from '../short.ts'

await short('fronts', program)
