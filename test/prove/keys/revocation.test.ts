import { program } from './revocation.ts'
import { short } from '../short.ts'

await short('revocation', program)
