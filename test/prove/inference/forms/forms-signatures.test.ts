import { program } from './forms-signatures.ts'
import { short } from '../../short.ts'

await short('forms-signatures', program)
