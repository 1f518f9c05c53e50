import { program } from './endpoints.ts'
import { short } from '../short.ts'

await short('endpoints', program)
