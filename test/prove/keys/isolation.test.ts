import { program } from './isolation.ts'
import { short } from '../short.ts'

await short('isolation', program)
