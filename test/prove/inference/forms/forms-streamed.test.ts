import { short } from '../../short.ts'
import { program } from './forms-streamed.ts'

await short('forms-streamed', program)
