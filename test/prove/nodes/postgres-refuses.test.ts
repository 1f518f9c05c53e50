import { short } from '../short.ts'
import { program } from './postgres-refuses.ts'

await short('postgres-refuses', program)
