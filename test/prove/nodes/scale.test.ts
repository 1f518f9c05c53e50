import { program } from './scale.ts'
import { short } from '../short.ts'

await short('scale', program)
