import { program } from './forms.ts'
import { short } from '../short.ts'

await short('forms', program)
