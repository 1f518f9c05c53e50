import { program } from './package.ts'
import { short } from '../short.ts'

await short('package', program)
