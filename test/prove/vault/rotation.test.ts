import { program } from './rotation.ts'
import { short } from '../short.ts'

await short('rotation', program)
