import { program } from './retention.ts'
import { short } from '../short.ts'

await short('retention', program)
